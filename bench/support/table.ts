/** Returns a Markdown table. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Returns the median and the 99th percentile of latencies as cells of a table. */
export function latencyCells(timesMs: readonly number[]): string[] {
  const sorted = timesMs.toSorted((a, b) => a - b)
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
  return [median(sorted).toFixed(2), p99.toFixed(2)]
}

/** Shows progress on one line of standard error. */
export function showProgress(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\u001B[K${text}` : `${text}\n`)
}
