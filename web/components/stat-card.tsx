import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

type Props = { readonly label: string; readonly value: ReactNode; readonly note?: ReactNode }

/** A statistic with its label and an optional note. */
export function StatCard({ label, value, note }: Props) {
  return (
    <div className="fg-panel">
      <div className="fg-caption">{label}</div>
      <div className="fg-stat">{value}</div>
      {note && (
        <Text size="xs" c="dimmed" mt={4} component="div">
          {note}
        </Text>
      )}
    </div>
  )
}
