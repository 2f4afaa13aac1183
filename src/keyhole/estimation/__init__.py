"""What the algorithms are made of: sampling, importance weighting, online Newton steps, the Dantzig selector."""
