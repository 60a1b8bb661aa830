import { formatLocal } from '../format/local-time.ts'

type Props = {
  readonly timestampUtc: string | null | undefined
  readonly fallback?: string
  /** Shows the day only, where a list has no space. */
  readonly isDate?: boolean
}

/** Shows a time in UTC, to the second. The tooltip also contains the local time of the browser. */
export function UtcTime({ timestampUtc, fallback = '–', isDate = false }: Props) {
  if (!timestampUtc) return <>{fallback}</>
  return (
    <time
      className="fg-mono"
      dateTime={timestampUtc}
      title={`${timestampUtc} (UTC)\n${formatLocal(new Date(timestampUtc))}`}
      style={{ whiteSpace: 'nowrap' }}
    >
      {timestampUtc.slice(0, 10)}
      {!isDate && ` ${timestampUtc.slice(11, 19)}`}
    </time>
  )
}
