import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import './card-row.css'

/**
 * Panels in two columns. A panel without data (`NoData`) takes a flat row below the others, and a panel
 * without a neighbour takes the whole width, so that no row has an empty half.
 */
export function CardRow({ children }: { readonly children: ReactNode }) {
  return <div className="fg-card-row">{children}</div>
}

/** Replaces the content of a panel in a `CardRow` that has no data. */
export function NoData({
  title,
  children,
}: {
  readonly title: string
  readonly children: ReactNode
}) {
  return (
    <Text size="sm" c="dimmed" className="fg-no-data">
      {title}. {children}
    </Text>
  )
}
