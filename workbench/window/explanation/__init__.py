"""Links between the pictures and the panels that explain them."""
