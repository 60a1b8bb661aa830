import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { ErrorNotice } from './error-notice.tsx'

type Props = {
  readonly title: string
  /** What will happen and what cannot be undone. */
  readonly children: ReactNode
  /** What has to be typed. */
  readonly confirmationText: string
  readonly confirmLabel: string
  readonly isPending: boolean
  readonly error: unknown
  readonly onConfirm: (typed: string) => void
  readonly onClose: () => void
}

/** Asks to type a word before something that cannot be undone. */
export function ConfirmDialog(parts: Props) {
  const [typed, setTyped] = useState('')
  const isRight = typed === parts.confirmationText
  return (
    <Modal
      opened
      onClose={parts.onClose}
      title={parts.title}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isRight) parts.onConfirm(typed)
        }}
      >
        <Stack>
          <Text size="sm" component="div">
            {parts.children}
          </Text>
          <TextInput
            label={
              <>
                Type <span className="fg-mono">{parts.confirmationText}</span> to confirm
              </>
            }
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
          <ErrorNotice error={parts.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={parts.onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              className="fg-danger"
              disabled={!isRight}
              loading={parts.isPending}
            >
              {parts.confirmLabel}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
