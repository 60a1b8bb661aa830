import { Group } from '@mantine/core'
import { shortIdOf } from '../../format/subject-name.ts'
import { CopyButton } from '../copy-button.tsx'

type Props = {
  /** What the id identifies, for the label of the copy button. */
  readonly label: string
  readonly id: string
}

/** The first characters of an id with a button that copies all of it. */
export function ShortId({ label, id }: Props) {
  return (
    <Group gap={4} wrap="nowrap">
      <span className="fg-mono" title={id}>
        {shortIdOf(id)}
      </span>
      <CopyButton label={`${label} ${shortIdOf(id)}`} text={id} />
    </Group>
  )
}
