"""What a plugin may implement and return, and what goes into the core and comes out of it. No machinery."""
