"""The building blocks of the algorithms: sampling, importance weighting, online Newton steps, the Dantzig selector."""
