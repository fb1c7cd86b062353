"""One secret of each kind, none of them real, put together here so that no scanner takes this file for a leak."""

WORD = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
DIGITS = "1234567890"
SAMPLES = {
    "anthropic": "sk-" + "ant-api03-" + WORD,
    "openai": "sk-" + WORD,
    "openai-project": "sk-" + "proj-" + WORD,
    "github": "ghp" + "_" + WORD,
    "github-app": "ghs" + "_" + WORD,
    "github-fine": "github" + "_pat_" + WORD,
    "gitlab": "glpat" + "-" + WORD[:20],
    "aws": "AKIA" + "ABCDEFGHIJ234567",
    "aws-secret": "aws_secret_access_key" + " = " + WORD + "abc/",
    "google": "AIza" + WORD[:35],
    "google-token": "ya29" + "." + WORD,
    "slack": "xoxb" + "-" + DIGITS + "-" + WORD,
    "slack-app": "xapp" + "-1-" + WORD,
    "stripe": "sk" + "_live_" + WORD[:24],
    "stripe-hook": "whsec" + "_" + WORD,
    "npm": "npm" + "_" + WORD,
    "pypi": "pypi" + "-AgEIcHlwaS5vcmc" + WORD,
    "hugging-face": "hf" + "_" + WORD,
    "docker": "dckr" + "_pat_" + WORD,
    "sendgrid": "SG" + "." + WORD[:22] + "." + WORD,
    "digitalocean": "dop" + "_v1_" + "0123456789abcdef" * 4,
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + "." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0" + "." + WORD,
    "private-key": "-----BEGIN RSA " + "PRIVATE KEY-----\n" + (WORD + "\n") * 3 + "-----END RSA " + "PRIVATE KEY-----",
    "bearer": "Bearer " + WORD + "." + WORD,
    "authorization": "Authorization: " + "Basic " + WORD,
    "password": "postgres://app:" + WORD + "@db.example.org/shop",
}
"""By name."""
NEEDLES = (WORD[:16].encode(), b"ABCDEFGHIJ234567", b"0123456789abcdef0123")
"""One of these stands in each of them."""
VALUES = {
    "DEPLOY_TOKEN": "hunter2-hunter2",
    "DB_PASSWORD": 'pa"ss/wo\\rd-ü1',
    "CERT_KEY": "first line of it\nsecond line of it\n",
}
"""Values of variables that are secrets by their names."""
SECRET_PIECES = [*SAMPLES.values(), *VALUES.values(), "sk-", "ghp_", "eyJ", "://", "a:b@", "\\", '"', "\n", "-----"]
"""What is a secret, or begins or ends like one."""
