/** Shown for an unknown value. */
const unknownText = '–'

/** Formats `1234567` as `1 234 567`. */
export function formatCount(value: number | null): string {
  return value === null ? unknownText : String(value).replaceAll(/\B(?=(?:\d{3})+$)/gu, '\u202F')
}

/** Formats a number with its noun: `1 day`, `12 days`. */
export function formatQuantity(value: number, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`
}

/** Formats milliseconds with three digits: `3.41 ms`, `128 ms`, `2.10 s`. */
export function formatDuration(valueMs: number | null): string {
  if (valueMs === null) return unknownText
  if (valueMs >= 1000) return `${(valueMs / 1000).toFixed(2)} s`
  return `${valueMs >= 100 ? valueMs.toFixed(0) : valueMs.toPrecision(3)} ms`
}

/**
 * Formats a share with one decimal: `0.9954` → `99.5 %`. Only 0 and 1 are shown as 0 % and 100 %, so that
 * one failure in a million calls stays visible.
 */
export function formatPercentage(share: number | null): string {
  if (share === null) return unknownText
  const percent = Math.round(share * 1000) / 10
  if (share > 0 && percent === 0) return '< 0.1 %'
  if (share < 1 && percent === 100) return '> 99.9 %'
  if (share > 1 && percent === 100) return '> 100 %'
  return `${percent} %`
}

/** Formats bytes with binary units: `1536` → `1.5 KiB`. */
export function formatBytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const exponent = value <= 0 ? 0 : Math.min(Math.floor(Math.log2(value) / 10), units.length - 1)
  const scaled = value / 1024 ** exponent
  return `${exponent === 0 ? scaled : scaled.toFixed(1)} ${units[exponent]}`
}

/** Formats seconds with the two largest units: `93784` → `1 d 2 h`. */
export function formatTimeSpan(seconds: number): string {
  const days = Math.floor(seconds / 86_400)
  const hours = Math.floor((seconds % 86_400) / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  if (days > 0) return `${days} d ${hours} h`
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.floor(seconds)} s`
}
