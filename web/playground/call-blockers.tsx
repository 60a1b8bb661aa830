import { List, type ListProps } from '@mantine/core'

type CallButton = {
  /** What prevents the call. */
  readonly blockers: readonly string[]
  readonly isRunning: boolean
  readonly onRun: () => void
}

/**
 * Returns the properties of a button that sends a call. Unlike a disabled button, a blocked one can be
 * focused, so that its description is read.
 */
export function callButtonProps({ blockers, isRunning, onRun }: CallButton) {
  const isBlocked = blockers.length > 0
  return {
    ...(isBlocked && { 'data-disabled': true, 'aria-disabled': true }),
    loading: isRunning,
    onClick: () => {
      if (!isBlocked) onRun()
    },
  }
}

type BlockerListProps = Pick<ListProps, 'id' | 'mt'> & { readonly blockers: readonly string[] }

/** States what is missing for a call. */
export function BlockerList({ blockers, ...props }: BlockerListProps) {
  return (
    <List size="sm" aria-label="What is missing" {...props}>
      {blockers.map((blocker) => (
        <List.Item key={blocker}>{blocker}</List.Item>
      ))}
    </List>
  )
}
