import { Drawer, Stack } from '@mantine/core'
import type { ReactNode } from 'react'

type Parts = {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** The detail of one row, beside its list; its address can be sent to somebody else. */
export function SideSheet({ title, onClose, children }: Parts) {
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
