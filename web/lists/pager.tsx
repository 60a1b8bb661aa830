import { Button, Group, Text } from '@mantine/core'

type Props = {
  readonly rowCount: number
  /** Where this part of the list begins; nothing at its start. */
  readonly cursor: string | undefined
  readonly nextCursor: string | null
  readonly onCursorChange: (cursor: string | undefined) => void
}

/** Walks through a list by cursors: the browser's own Back leads to the part before. */
export function Pager({ rowCount: shown, cursor, nextCursor, onCursorChange: onCursor }: Props) {
  if (shown === 0 && !cursor) return null
  return (
    <Group justify="space-between" mt="sm" gap="xs">
      <Text size="xs" c="dimmed">
        {shown} {shown === 1 ? 'row' : 'rows'} on this page{nextCursor ? ', more follow' : ''}
      </Text>
      <Group gap="xs">
        <Button size="xs" variant="default" disabled={!cursor} onClick={() => onCursor(undefined)}>
          First page
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={!nextCursor}
          onClick={() => onCursor(nextCursor ?? undefined)}
        >
          Next page
        </Button>
      </Group>
    </Group>
  )
}
