import { Button, Group, Switch, Text, Tooltip } from '@mantine/core'
import { useId, type ReactNode } from 'react'
import { Panel } from '../layout/panel.tsx'
import { BlockerList, callButtonProps } from './call-blockers.tsx'

type Props = {
  readonly action: string
  readonly debug: boolean
  readonly validateOnly: boolean
  /** What prevents the call. */
  readonly blockers: readonly string[]
  readonly isRunning: boolean
  /** Other ways to run the action. */
  readonly children?: ReactNode
  readonly onDebugChange: (debug: boolean) => void
  readonly onValidateOnlyChange: (validateOnly: boolean) => void
  readonly onRun: () => void
}

/** Starts the call, or states what is missing for it. */
export function CallPanel(props: Props) {
  const { action, debug, blockers, isRunning, children, onDebugChange, onRun } = props
  const id = useId()
  const isBlocked = blockers.length > 0
  return (
    <Panel title="Call">
      <Group justify="space-between">
        <Switch
          label="Debug"
          description="Adds models, raw scores, timings and candidates below the threshold."
          size="xs"
          checked={debug}
          onChange={(event) => onDebugChange(event.currentTarget.checked)}
        />
        <Switch
          label="Validate only"
          description="Checks the call and returns its price. Nothing is run or charged."
          size="xs"
          checked={props.validateOnly}
          onChange={(event) => props.onValidateOnlyChange(event.currentTarget.checked)}
        />
        {children}
        <Tooltip label={blockers.join(' ')} disabled={!isBlocked} multiline maw={280}>
          <Button
            className="fg-primary"
            aria-describedby={isBlocked ? id : undefined}
            {...callButtonProps({ blockers, isRunning, onRun })}
          >
            {props.validateOnly ? 'Validate' : 'Run'} {action}
          </Button>
        </Tooltip>
      </Group>
      {isBlocked ? (
        <BlockerList id={id} blockers={blockers} mt="xs" />
      ) : (
        <Text size="xs" c="dimmed" mt="xs">
          {props.validateOnly
            ? 'Logged and rate-limited like any other call of the project, but free.'
            : 'Billed and logged like any other call of the project.'}
        </Text>
      )}
    </Panel>
  )
}
