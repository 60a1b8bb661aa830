import { useEffect, useState } from 'react'
import { formatLocal, localTimeOfDay } from '../format/local-time.ts'

const updateIntervalMs = 10_000

/** The current time in UTC, the time zone of the console. */
export function UtcClock() {
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), updateIntervalMs)
    return () => clearInterval(timer)
  }, [])
  const text = now.toISOString()
  const local = localTimeOfDay(now)
  return (
    <time
      className="fg-clock"
      dateTime={text}
      title={`All times are in UTC. Local time: ${formatLocal(now)}`}
    >
      {text.slice(0, 10)} {text.slice(11, 16)} UTC
      {local !== undefined && ` · ${local} local`}
    </time>
  )
}
