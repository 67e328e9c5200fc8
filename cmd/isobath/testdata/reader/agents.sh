isobath import demo -o before.isobath
isobath import demo:fixed -o after.isobath
