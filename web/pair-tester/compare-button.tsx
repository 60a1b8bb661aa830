import { Button, Group, List, Text } from '@mantine/core'
import { useId } from 'react'
import type { ActionInfo } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import { MoneyAmount } from '../money/money-amount.tsx'
import type { ImageCount } from '../playground/images/image-count.ts'
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
        <List size="sm" id={id} aria-label="What is missing">
          {blockers.map((blocker) => (
            <List.Item key={blocker}>{blocker}</List.Item>
          ))}
        </List>
      ) : (
        <PriceText projectId={projectId} price={price} />
      )}
      <Button
        className="fg-primary"
        // Unlike a disabled button, it can be focused, so that its description is read.
        {...(isBlocked && {
          'data-disabled': true,
          'aria-disabled': true,
          'aria-describedby': id,
        })}
        loading={isRunning}
        onClick={() => {
          if (!isBlocked) onCompare()
        }}
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
  const micros = BigInt(price.unitsPerCall) * BigInt(price.unitMicros)
  const isBilled = project.data.switches.billing
  return (
    <Text size="sm">
      One call of svc.verify: <MoneyAmount micros={micros} />
      {isBilled ? ', charged to the budget of the project' : ', not charged: billing is off'}. It is
      rate-limited and logged like any call.
    </Text>
  )
}
