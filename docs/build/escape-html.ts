/** Escapes a text for HTML, also within an attribute. */
export function escapeHtml(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '"': '&quot;' }
  return text.replaceAll(/[&<"]/gu, (character) => names[character] ?? character)
}
