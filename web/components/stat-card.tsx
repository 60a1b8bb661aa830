import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

type Props = { readonly label: string; readonly value: ReactNode; readonly note?: ReactNode }

/** One number that matters, what it is, and what to make of it. */
export function StatCard({ label, value, note }: Props) {
  return (
    <div className="fg-panel">
      <div className="fg-eyebrow">{label}</div>
      <div className="fg-figure">{value}</div>
      {note && (
        <Text size="xs" c="dimmed" mt={4} component="div">
          {note}
        </Text>
      )}
    </div>
  )
}
