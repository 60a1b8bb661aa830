import { Alert, Button, Checkbox, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { CodeBlock } from './code-block.tsx'

type Props = {
  readonly secret: string
  readonly label: string
  /** How the service stores the secret. */
  readonly storage?: string
  /** What the user does with it. */
  readonly advice?: string
  readonly onDone: () => void
}

/** Shows a secret once. The user must confirm that it was copied. */
export function OneTimeSecret({
  secret,
  label,
  storage = 'The service stores only its hash.',
  advice = 'Copy it now and store it safely, never in source code.',
  onDone,
}: Props) {
  const [isCopied, setIsCopied] = useState(false)
  return (
    <Stack>
      <Alert variant="default" title={`This ${label} is shown only once`}>
        {storage} {advice}
      </Alert>
      <CodeBlock label={label} text={secret} />
      <Checkbox
        label="I have copied it"
        checked={isCopied}
        onChange={(event) => setIsCopied(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <Button disabled={!isCopied} onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  )
}
