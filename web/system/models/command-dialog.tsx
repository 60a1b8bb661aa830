import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CodeBlock } from '../../components/code-block.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { toCommandLine, useModelCommand, type ModelCommandText } from './use-model-command.ts'

type Props = {
  readonly title: string
  readonly children: ReactNode
  readonly command: ModelCommandText
  readonly submitLabel: string
  readonly mayChange: boolean
  /** False while something is missing. */
  readonly isReady?: boolean
  readonly isDangerous?: boolean
  readonly size?: string
  readonly onClose: () => void
}

/** A dialog that starts a command. It also shows the command line, for other servers and other users. */
export function CommandDialog(props: Props) {
  const { command, mayChange, isReady = true, isDangerous = false, onClose } = props
  const { start, isStarting, isRunning, error } = useModelCommand(mayChange, onClose)
  return (
    <Modal
      opened
      size={props.size ?? 'lg'}
      onClose={onClose}
      title={props.title}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady && mayChange) start(command)
        }}
      >
        <Stack>
          {props.children}
          <CodeBlock label="The same on the command line" text={toCommandLine(command)} />
          {!mayChange && (
            <Alert variant="default" title="Only owners of the first account change models">
              Send them the command, or run it on the machine of the server.
            </Alert>
          )}
          {isRunning && <Text size="sm">Another command is running. Wait until it ends.</Text>}
          <ErrorNotice title="Couldn't start the command" error={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            {mayChange && (
              <Button
                type="submit"
                loading={isStarting}
                disabled={!isReady || isRunning}
                {...(isDangerous && { className: 'fg-danger' })}
              >
                {props.submitLabel}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
