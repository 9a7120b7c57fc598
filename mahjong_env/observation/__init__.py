"""What a seat may see: planes for networks, named arrays for agents."""
