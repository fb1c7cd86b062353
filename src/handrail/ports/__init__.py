"""What Handrail needs from outside, as protocols and the values that cross them."""
