import { Button, Group, Text } from '@mantine/core'
import { useId } from 'react'
import type { ActionInfo } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import { callMicros } from '../format/call-micros.ts'
import { MoneyAmount } from '../money/money-amount.tsx'
import type { ImageCount } from '../playground/images/image-count.ts'
import { BlockerList, callButtonProps } from '../playground/call-blockers.tsx'
import { runBlockers } from '../playground/run-blockers.ts'

type Props = {
  readonly projectId: string
  readonly price: ActionInfo['price'] | undefined
  readonly imageCount: ImageCount
  readonly imagesChosen: number
  readonly isRunning: boolean
  readonly onCompare: () => void
}

/** Starts the comparison and states its price, or states what is missing for it. */
export function CompareButton(props: Props) {
  const { projectId, price, imageCount, imagesChosen, isRunning, onCompare } = props
  const mayCall = useHasRole('admin')
  const id = useId()
  const blockers = runBlockers({ mayCall, problems: {}, imageCount, imagesChosen })
  const isBlocked = blockers.length > 0
  return (
    <Group justify="space-between" align="flex-start">
      {isBlocked ? (
        <BlockerList id={id} blockers={blockers} />
      ) : (
        <PriceText projectId={projectId} price={price} />
      )}
      <Button
        className="fg-primary"
        aria-describedby={isBlocked ? id : undefined}
        {...callButtonProps({ blockers, isRunning, onRun: onCompare })}
      >
        Compare
      </Button>
    </Group>
  )
}

type PriceTextProps = Pick<Props, 'projectId' | 'price'>

function PriceText({ projectId, price }: PriceTextProps) {
  const project = useApiQuery('/projects/:projectId', { pathParams: { projectId } })
  if (!price || !project.data) return null
  const isBilled = project.data.switches.billing
  return (
    <Text size="sm">
      One call of svc.verify: <MoneyAmount micros={callMicros(price)} />
      {isBilled ? ', charged to the budget of the project' : ', not charged: billing is off'}. It is
      rate-limited and logged like any call.
    </Text>
  )
}
