import { formatLocal } from '../format/local-time.ts'

type Props = { readonly timestampUtc: string | null | undefined; readonly fallback?: string }

/** Shows a time in UTC, to the second. The tooltip also contains the local time of the browser. */
export function UtcTime({ timestampUtc, fallback = '–' }: Props) {
  if (!timestampUtc) return <>{fallback}</>
  return (
    <time
      className="fg-mono"
      dateTime={timestampUtc}
      title={`${timestampUtc} (UTC)\n${formatLocal(new Date(timestampUtc))}`}
      style={{ whiteSpace: 'nowrap' }}
    >
      {timestampUtc.slice(0, 10)} {timestampUtc.slice(11, 19)}
    </time>
  )
}
