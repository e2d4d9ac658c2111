"""What a checkpoint's folder holds, told without torch and without unpickling anything."""
