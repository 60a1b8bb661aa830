type Props = { readonly timestampUtc: string | null | undefined; readonly fallback?: string }

/** A moment, in UTC to the second; the full form is its title. */
export function UtcTime({ timestampUtc: at, fallback = '–' }: Props) {
  if (!at) return <>{fallback}</>
  return (
    <time className="fg-mono" dateTime={at} title={`${at} (UTC)`} style={{ whiteSpace: 'nowrap' }}>
      {at.slice(0, 10)} {at.slice(11, 19)}
    </time>
  )
}
