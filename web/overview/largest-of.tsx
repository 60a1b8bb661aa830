import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'

type Props = {
  readonly shown: number
  readonly total: number
  /** The elements and their order, such as `galleries, by subjects`. */
  readonly of: string
  /** The page with all of them. */
  readonly to: '/money' | '/projects' | '/analytics'
}

/** States that a card shows only the largest elements, with a link to all. */
export function LargestOf({ shown, total, of, to }: Props) {
  if (shown >= total) return null
  const search = to === '/analytics' ? { by: 'code' } : {}
  return (
    <Text size="xs" c="dimmed">
      Top {shown} of {total} {of}.{' '}
      <Anchor
        size="xs"
        underline="always"
        renderRoot={(props) => <Link {...props} to={to} search={search} />}
      >
        View all
      </Anchor>
    </Text>
  )
}
