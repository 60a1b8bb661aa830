import { formatLocal, localTimeOfDay } from '../format/local-time.ts'

type Props = {
  readonly timestampUtc: string | null | undefined
  readonly fallback?: string
  /** Shows the day only, where a list has no space. */
  readonly isDate?: boolean
  /** Also shows the local time of the browser, where it differs. */
  readonly withLocal?: boolean
}

/** Shows a time in UTC, to the second. The tooltip also contains the local time of the browser. */
export function UtcTime({ timestampUtc, fallback = '–', isDate, withLocal }: Props) {
  if (!timestampUtc) return <>{fallback}</>
  const local = withLocal ? localTimeOfDay(new Date(timestampUtc)) : undefined
  return (
    <time
      className="fg-mono"
      dateTime={timestampUtc}
      title={`${timestampUtc} (UTC)\n${formatLocal(new Date(timestampUtc))}`}
      style={{ whiteSpace: 'nowrap' }}
    >
      {timestampUtc.slice(0, 10)}
      {!isDate && ` ${timestampUtc.slice(11, 19)}`}
      {local !== undefined && ` (${local} local)`}
    </time>
  )
}
