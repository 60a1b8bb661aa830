import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { ErrorNotice } from './error-notice.tsx'

type Props = {
  readonly title: string
  /** The effect of the operation and whether it can be undone. */
  readonly children: ReactNode
  /** The text that the user must type. */
  readonly confirmationText: string
  readonly confirmLabel: string
  readonly isPending: boolean
  /** False while the effect is counted: the operation cannot be confirmed yet. */
  readonly isReady?: boolean
  readonly errorTitle: string
  readonly error: unknown
  readonly onConfirm: (typed: string) => void
  readonly onClose: () => void
}

/** Requires a typed confirmation before an operation that deletes data or is costly. */
export function ConfirmDialog(props: Props) {
  const { isReady = true } = props
  const [typed, setTyped] = useState('')
  // Names are stored in Unicode NFC, and a pasted one can have another form.
  const isConfirmed = isReady && typed.normalize('NFC') === props.confirmationText
  return (
    <Modal
      opened
      onClose={props.onClose}
      title={props.title}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isConfirmed) props.onConfirm(props.confirmationText)
        }}
      >
        <Stack>
          <Text size="sm" component="div">
            {props.children}
          </Text>
          <TextInput
            label={
              <>
                Type <span className="fg-mono">{props.confirmationText}</span> to confirm
              </>
            }
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
          <ErrorNotice title={props.errorTitle} error={props.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={props.onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              className="fg-danger"
              disabled={!isConfirmed}
              loading={props.isPending}
            >
              {props.confirmLabel}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
