import { List, Text } from '@mantine/core'
import { formatCount } from '../../format/numbers.ts'

/** A number of things. The server stops counting at a limit: then there are more. */
export type CountedLoss = {
  readonly count: number | { readonly total: number; readonly isCapped: boolean }
  readonly one: string
  readonly many: string
}

/** Formats a count with its noun: `1 subject`, `12 subjects`, `more than 10 000 subjects`. */
export function formatLoss({ count, one, many }: CountedLoss): string {
  const { total, isCapped } = typeof count === 'number' ? { total: count, isCapped: false } : count
  return `${isCapped ? 'more than ' : ''}${formatCount(total)} ${total === 1 ? one : many}`
}

type Props = {
  readonly title: string
  readonly items: readonly string[]
}

/** A list of what an operation deletes, keeps or changes. */
export function EffectList({ title, items }: Props) {
  return (
    <>
      <Text size="sm" fw={600} mt="xs">
        {title}
      </Text>
      <List size="sm">
        {items.map((item) => (
          <List.Item key={item}>{item}</List.Item>
        ))}
      </List>
    </>
  )
}
