# Defines a shell function. Load it with: . docs/face.sh
#
#   face <action> <image> [<more params>]
#
# Sends one image and prints the response. Reads the address from FACEGATE_URL and the key from KEY.
face() {
  printf '{"action":"%s","params":{"images":[{"kind":"image","contentType":"image/jpeg","bytes":"%s"}]%s}}' \
    "$1" "$(base64 < "$2" | tr -d '\n')" "${3:+,$3}" |
    curl -sS "${FACEGATE_URL:-http://127.0.0.1:8080}/v1/face/execute" \
      -H "X-Api-Key: $KEY" -H 'Content-Type: application/json' --data-binary @- |
    node -p 'JSON.stringify(JSON.parse(require("fs").readFileSync(0, "utf8")), null, 2)'
}
