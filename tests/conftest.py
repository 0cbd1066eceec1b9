"""Makes the helpers in this folder (gradcheck.py) importable from every test folder."""
