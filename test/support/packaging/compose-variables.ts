/** Replaces variables of a Compose file such as `${NAME:-value}` by their default values. */
export function withDefaults(text: string): string {
  return text.replaceAll(/\$\{\w+:-([^}]*)\}/gu, '$1')
}
