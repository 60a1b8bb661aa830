import { Group, Title } from '@mantine/core'
import { useId, type ReactNode } from 'react'

type Props = {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A section of a page with a heading. */
export function Panel({ title, actions, children }: Props) {
  const id = useId()
  return (
    <section className="fg-panel" aria-labelledby={id}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} id={id}>
          {title}
        </Title>
        {actions}
      </Group>
      {children}
    </section>
  )
}
