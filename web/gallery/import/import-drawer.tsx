import { List, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { DetailDrawer } from '../../components/detail-drawer.tsx'
import { ImportPlanPanel } from './import-plan-panel.tsx'
import { FileChooser } from './file-chooser.tsx'
import { importPicturesMax, planImport, type ImportPlan } from './plan-import.ts'
import { ProblemNotice } from './problem-notice.tsx'
import { readList } from './read-list.ts'

type Props = { readonly projectId: string; readonly onClose: () => void }

type ChosenFiles = {
  readonly id: string
  readonly plan: ImportPlan<File>
  readonly ignoredColumns: readonly string[]
}

/** Updates subjects from a list, or enrolls people from a list with pictures. */
export function ImportDrawer({ projectId, onClose }: Props) {
  const [chosen, setChosen] = useState<ChosenFiles>()
  const [problem, setProblem] = useState<string>()
  const choose = async (files: readonly File[]): Promise<void> => {
    const read = await readFiles(files)
    setChosen('problem' in read ? undefined : read)
    setProblem('problem' in read ? read.problem : undefined)
  }
  return (
    <DetailDrawer title="Import subjects" onClose={onClose}>
      <Instructions />
      <FileChooser onChoose={(files) => void choose(files)} />
      <ProblemNotice title="These files cannot be imported" problem={problem} />
      {chosen && (
        <Stack key={chosen.id}>
          {chosen.ignoredColumns.length > 0 && (
            <Text size="sm">
              These columns have no meaning and are ignored: {chosen.ignoredColumns.join(', ')}.
            </Text>
          )}
          <ImportPlanPanel projectId={projectId} plan={chosen.plan} />
        </Stack>
      )}
    </DetailDrawer>
  )
}

function Instructions() {
  return (
    <List size="sm" spacing={4}>
      <List.Item>
        Without a column <span className="fg-mono">file</span>, the rows update existing subjects,
        found by <span className="fg-mono">subjectId</span> or{' '}
        <span className="fg-mono">externalId</span>: name, groups (separated by spaces; they replace
        the present ones), attributes (a JSON object), expiresAtUtc (a time, or{' '}
        <span className="fg-mono">never</span>). An empty cell changes nothing. An export of this
        page has these columns.
      </List.Item>
      <List.Item>
        With a column <span className="fg-mono">file</span>, each row enrolls the picture with this
        file name, like one call of svc.enroll. Several rows with one external id give one subject
        several faces.
      </List.Item>
    </List>
  )
}

const isList = ({ name }: File): boolean => /\.csv$/iu.test(name)

async function readFiles(
  files: readonly File[],
): Promise<ChosenFiles | { readonly problem: string }> {
  const [list, ...others] = files.filter(isList)
  const pictures = files.filter((file) => !isList(file))
  if (!list) return { problem: 'No list was chosen. Choose one file that ends in .csv.' }
  if (others.length > 0) return { problem: 'Several lists were chosen. Choose one.' }
  if (pictures.length > importPicturesMax)
    return {
      problem: `${pictures.length} pictures were chosen; at most ${importPicturesMax} are accepted. Divide them.`,
    }
  const read = readList(new Uint8Array(await list.arrayBuffer()))
  if ('problem' in read) return read
  const { ignoredColumns } = read
  return { id: crypto.randomUUID(), plan: planImport(read, pictures), ignoredColumns }
}
