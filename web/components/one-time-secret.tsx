import { Alert, Button, Checkbox, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { CodeBlock } from './code-block.tsx'

type Props = { readonly secret: string; readonly label: string; readonly onDone: () => void }

/** A secret that nobody can show again, and the promise that it was kept. */
export function OneTimeSecret({ secret, label: what, onDone }: Props) {
  const [isKept, setIsKept] = useState(false)
  return (
    <Stack>
      <Alert variant="default" title={`This ${what} is shown once`}>
        The service keeps only its hash. Put it where the program reads its secrets, not into code.
      </Alert>
      <CodeBlock label={what} text={secret} />
      <Checkbox
        label="I have copied it"
        checked={isKept}
        onChange={(event) => setIsKept(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <Button disabled={!isKept} onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  )
}
