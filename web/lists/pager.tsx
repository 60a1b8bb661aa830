import { Button, Group, Text } from '@mantine/core'

type Props = {
  readonly rowCount: number
  /** The cursor of this page, undefined for the first page. */
  readonly cursor: string | undefined
  readonly nextCursor: string | null
  readonly onCursorChange: (cursor: string | undefined) => void
}

/** Opens the first or the next page of a list. The browser's Back button opens the previous page. */
export function Pager({ rowCount, cursor, nextCursor, onCursorChange }: Props) {
  if (rowCount === 0 && !cursor) return null
  return (
    <Group justify="space-between" mt="sm" gap="xs">
      <Text size="xs" c="dimmed">
        {rowCount} {rowCount === 1 ? 'row' : 'rows'} on this page
        {nextCursor ? ', more available' : ''}
      </Text>
      <Group gap="xs">
        <Button
          size="xs"
          variant="default"
          disabled={!cursor}
          onClick={() => onCursorChange(undefined)}
        >
          First page
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={!nextCursor}
          onClick={() => onCursorChange(nextCursor ?? undefined)}
        >
          Next page
        </Button>
      </Group>
    </Group>
  )
}
