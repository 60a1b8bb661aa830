import { Drawer, Stack } from '@mantine/core'
import type { ReactNode } from 'react'

type Props = {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Shows the details of one row next to its list. */
export function DetailDrawer({ title, onClose, children }: Props) {
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={title}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>{children}</Stack>
    </Drawer>
  )
}
