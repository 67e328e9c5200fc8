mkdir -p .local/share/bash-completion/completions
