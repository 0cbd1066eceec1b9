"""Starting the processes of a run: the command `msrun`."""
