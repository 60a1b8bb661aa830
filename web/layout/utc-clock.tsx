import { useEffect, useState } from 'react'

const updateIntervalMs = 10_000

/** The time that every figure of the console is told in. */
export function UtcClock() {
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), updateIntervalMs)
    return () => clearInterval(timer)
  }, [])
  const text = now.toISOString()
  return (
    <time className="fg-clock" dateTime={text} title="Every time in the console is UTC">
      {text.slice(0, 10)} {text.slice(11, 16)} UTC
    </time>
  )
}
