import type { Readable } from 'node:stream';
import { PassThrough } from 'node:stream';
import yazl from 'yazl';

const part = (of: Iterable<string>): PassThrough => {
  const stream = new PassThrough();
  void (async () => {
    let text = '';
    for (const piece of of) {
      text += piece;
      if (text.length < 65_536) continue;
      if (!stream.write(text)) await new Promise((resolve) => stream.once('drain', resolve));
      text = '';
    }
    stream.end(text);
  })();
  return stream;
};

const RELATIONS = ['worksheet', 'sharedStrings', 'styles'].map((kind) => {
  const target = kind === 'worksheet' ? 'worksheets/sheet1.xml' : `${kind}.xml`;
  return `<Relationship Id="${kind}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${kind}" Target="${target}"/>`;
});

function* strings(rows: number): Generator<string> {
  yield '<sst><si><t>phone</t></si><si><t>name</t></si><si><t>city</t></si>';
  for (let row = 0; row < rows; row += 1)
    yield `<si><t>Person ${row}</t></si><si><t>Town of ${row} &amp; its parts</t></si>`;
  yield '</sst>';
}

function* cells(rows: number): Generator<string> {
  yield '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c></row>';
  for (let row = 0; row < rows; row += 1) {
    const at = row + 2;
    yield `<row r="${at}"><c r="A${at}" s="1"><v>${4_915_110_000_000 + row}</v></c><c r="B${at}" t="s"><v>${2 * row + 3}</v></c><c r="C${at}" t="s"><v>${2 * row + 4}</v></c></row>`;
  }
  yield '</sheetData></worksheet>';
}

/** An Excel workbook of so many people, of whom each text is another one, as it is written. */
export function manyRows(rows: number): Readable {
  const zip = new yazl.ZipFile();
  zip.addBuffer(
    Buffer.from('<workbook><sheets><sheet name="People" r:id="worksheet"/></sheets></workbook>'),
    'xl/workbook.xml',
  );
  zip.addBuffer(Buffer.from(`<Relationships>${RELATIONS.join('')}</Relationships>`), 'xl/_rels/workbook.xml.rels');
  zip.addBuffer(
    Buffer.from('<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="1"/></cellXfs></styleSheet>'),
    'xl/styles.xml',
  );
  zip.addReadStream(part(cells(rows)), 'xl/worksheets/sheet1.xml');
  zip.addReadStream(part(strings(rows)), 'xl/sharedStrings.xml');
  zip.end();
  return zip.outputStream as Readable;
}
