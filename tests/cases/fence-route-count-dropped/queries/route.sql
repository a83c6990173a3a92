SELECT backend, weight FROM routes WHERE host = $1
