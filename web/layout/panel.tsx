import { Group, Title } from '@mantine/core'
import type { ReactNode } from 'react'

type Props = {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A section of a page with a heading. */
export function Panel({ title, actions, children }: Props) {
  return (
    // A table in the panel often has the same name, and names of sections must differ.
    <section className="fg-panel" aria-label={`${title}, section`}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2}>{title}</Title>
        {actions}
      </Group>
      {children}
    </section>
  )
}
