import { Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { errorMessageOf } from '../../api/api-error.ts'

type UndoNotification = {
  /** What was changed. */
  readonly message: string
  readonly undoLabel?: string
  readonly undo: () => Promise<unknown>
  /** What is shown after the undo. */
  readonly undoneMessage: string
}

/** The time in which a change can be undone from its notification. */
const undoMs = 20_000

/**
 * Shows a notification with a button that restores the earlier values.
 *
 * @returns the function of this button.
 */
export function showUndo(options: UndoNotification): () => Promise<void> {
  const { message, undoLabel = 'Undo', undo, undoneMessage } = options
  const run = async (): Promise<void> => {
    notifications.hide(id)
    try {
      await undo()
      notifications.show({ message: undoneMessage })
    } catch (error) {
      notifications.show({ title: "Couldn't undo", message: errorMessageOf(error), color: 'red' })
    }
  }
  const id = notifications.show({
    autoClose: undoMs,
    message: (
      <Group justify="space-between" gap="sm">
        <Text size="sm">{message}</Text>
        <Button size="compact-sm" variant="default" onClick={() => void run()}>
          {undoLabel}
        </Button>
      </Group>
    ),
  })
  return run
}
