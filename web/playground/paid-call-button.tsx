import { Button, Group, Text } from '@mantine/core'
import { useId } from 'react'
import type { ActionInfo } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import { callMicros } from '../format/call-micros.ts'
import { MoneyAmount } from '../money/money-amount.tsx'
import type { ImageCount } from './images/image-count.ts'
import { BlockerList, callButtonProps } from './call-blockers.tsx'
import { runBlockers } from './run-blockers.ts'

type Props = {
  readonly projectId: string
  readonly action: string
  /** The text of the button. */
  readonly label: string
  readonly price: ActionInfo['price'] | undefined
  readonly imageCount: ImageCount
  readonly imagesChosen: number
  readonly isRunning: boolean
  readonly onRun: () => void
}

/** Sends a call and states its price, or states what is missing for it. */
export function PaidCallButton(props: Props) {
  const { price, imageCount, imagesChosen, isRunning, onRun } = props
  const mayCall = useHasRole('admin')
  const id = useId()
  const blockers = runBlockers({ mayCall, problems: {}, imageCount, imagesChosen })
  const isBlocked = blockers.length > 0
  return (
    <Group justify="space-between" align="flex-start">
      {isBlocked ? (
        <BlockerList id={id} blockers={blockers} />
      ) : (
        <PriceText {...props} price={price} />
      )}
      <Button
        className="fg-primary"
        aria-describedby={isBlocked ? id : undefined}
        {...callButtonProps({ blockers, isRunning, onRun })}
      >
        {props.label}
      </Button>
    </Group>
  )
}

type PriceTextProps = Pick<Props, 'projectId' | 'action' | 'price'>

function PriceText({ projectId, action, price }: PriceTextProps) {
  const project = useApiQuery('/projects/:projectId', { pathParams: { projectId } })
  if (!price || !project.data) return null
  const isBilled = project.data.switches.billing
  return (
    <Text size="sm">
      One call of {action}: <MoneyAmount micros={callMicros(price)} />
      {isBilled ? ', charged to the budget of the project' : ', not charged: billing is off'}. It is
      rate-limited and logged like any call.
    </Text>
  )
}
