#!/bin/sh
# Runs `skyhook` with the image's arguments as process 1, so that it gets the signals of `docker stop`.
#
# A published port leads to an address of the container that is not its 127.0.0.1. So the two verbs that serve listen
# at every address, on a port that is known when the container is created. A later option of the user's wins.
set -eu

case "${1-}" in
service)
  shift
  set -- service --listen 0.0.0.0 --port 8080 "$@"
  ;;
start)
  shift
  set -- start --listen 0.0.0.0 --port 4747 "$@"
  ;;
esac
exec skyhook "$@"
