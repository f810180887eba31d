"""Tables: what they declare, and how they are printed beside the paper's."""
