"""What tests of printed next steps share."""
