/**
 * The places of a text where a spreadsheet can begin a formula: the start, and after a separator or a
 * quote of any program, because some divide cells at semicolons (OWASP, CSV Injection). A negative
 * number is no formula. Apostrophes before the formula belong to it.
 */
const formulaStart =
  /(?<=^|[;,\t\r\n"])(?='*(?!-\d+(?:\.\d+)?(?:[;,\]}]|$))[=+\-@＝＋－＠])|^(?='*[\t\r\n])/gu

/**
 * Formats a text as a cell of a CSV file (RFC 4180). Each beginning of a formula gets an apostrophe and
 * stays text, also where there is one already: an import removes exactly one from each.
 */
export function formatCsvCell(text: string): string {
  const safe = text.replaceAll(formulaStart, "'")
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
