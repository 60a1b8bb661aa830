import type { ReactNode } from 'react'

export type StatusTone = 'ok' | 'warn' | 'bad' | 'plain'

/** A status label with a coloured dot. */
export function StatusTag({
  tone,
  children,
}: {
  readonly tone: StatusTone
  readonly children: ReactNode
}) {
  const color = tone === 'plain' ? undefined : `var(--fg-${tone})`
  return (
    <span className="fg-tag">
      <span className="fg-dot" style={color ? { background: color } : undefined} aria-hidden />
      {children}
    </span>
  )
}
