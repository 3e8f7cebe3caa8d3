import { expect, test } from 'vitest';
import { clocksOf } from './country-time-zone.ts';
import { timeZonesOfNumber } from './number-time-zones.ts';

/**
 * The area codes of the United States and Canada, by the time zones that the North American Numbering Plan Administrator says
 * they have (`npa_report.csv` of 26 November 2025). Where it gives letters for clocks, these are places with them; Arizona,
 * Saskatchewan, Puerto Rico and Yukon, which have no summer time, stand by their own.
 */
const report: readonly (readonly [zones: string, areaCodes: string])[] = [
  [
    'America/New_York',
    `
      201 202 203 207 212 215 216 220 223 226 227 229 231 234 239 240 248 249 252 260 263 267 269 272 273 276 283 289
      301 302 304 305 313 315 317 321 324 326 329 330 332 336 339 343 347 351 352 354 363 365 367 380 382 386 401 404
      407 410 412 413 416 418 419 434 436 437 438 440 443 445 450 463 465 468 470 472 475 478 484 502 508 513 514 516
      517 518 519 540 548 551 561 565 567 570 571 579 581 582 585 586 603 607 609 610 613 614 616 617 624 631 640 645
      646 647 656 667 678 679 680 681 683 686 689 703 704 705 706 716 717 718 724 727 728 732 734 740 742 743 753 754
      757 761 762 765 770 771 772 774 781 786 802 803 804 810 813 814 819 821 826 828 835 838 839 843 845 848 854 856
      857 859 860 862 863 864 865 873 878 904 905 908 910 912 914 917 919 929 930 934 937 941 942 943 947 948 954 959
      973 978 980 984 989
    `,
  ],
  [
    'America/Chicago',
    `
      204 205 210 214 217 218 224 225 228 235 251 254 256 262 274 281 309 312 314 316 318 319 320 325 327 331 334 337
      346 353 361 402 405 409 414 417 430 431 432 447 457 464 469 471 479 483 501 504 507 512 515 531 534 539 557 563
      572 573 580 584 601 608 612 615 618 621 629 630 636 641 651 659 660 662 682 708 712 713 715 726 730 731 737 763
      769 773 779 806 815 816 817 830 832 847 861 870 872 901 903 913 918 920 924 936 938 940 945 952 956 972 975 979
      985
    `,
  ],
  ['America/Denver', '303 307 385 406 435 505 575 719 720 748 801 970 983'],
  [
    'America/Los_Angeles',
    `
      206 209 213 253 279 310 323 341 350 357 360 369 408 415 424 425 442 503 509 510 530 559 562 564 619 626 628 650
      657 661 669 702 707 714 725 738 747 760 805 818 820 831 837 840 858 909 916 925 949 951 971 986
    `,
  ],
  ['America/Phoenix', '480 520 602 623 928'],
  ['America/Halifax', '428 506 782 902'],
  ['America/Puerto_Rico', '340 787 939'],
  ['America/St_Johns', '709 879'],
  ['America/Anchorage', '907'],
  ['Pacific/Honolulu', '808'],
  ['Pacific/Guam', '670 671'],
  ['Pacific/Pago_Pago', '684'],
  ['America/New_York America/Chicago', '219 270 364 423 448 574 606 729 807 812 850 906 931'],
  ['America/Chicago America/Denver', '308 605 620 701 785 915'],
  ['America/Denver America/Los_Angeles', '208 458 541 775'],
  ['America/Winnipeg America/Edmonton America/Whitehorse America/Toronto', '867'],
  ['America/Regina', '306 474 639'],
  ['America/Edmonton', '368 403 587 780 825'],
  ['America/Vancouver', '236 250 257 604 672 778'],
];

/** Area codes of several zones, and what was laid over them, as the report has it: a number may be in all of their zones. */
const together = [
  '208 986',
  '236 250 257 672 778',
  '270 364',
  '273 367 418 581',
  '306 474 639',
  '423 729',
  '448 850',
  '458 541',
  '709 879',
  '812 930',
].map((codes) => codes.split(' '));

const zonesOf = (areaCode: string) => timeZonesOfNumber(Number(`1${areaCode}2345678`));
const codesOf = (text: string) => text.trim().split(/\s+/);

test('an area code has each clock that its administrator says, and no clock of places far away', () => {
  const codes = report.flatMap(([, codes]) => codesOf(codes));
  expect(codes.length).toBeGreaterThan(430);
  const lacking = report.flatMap(([zones, codes]) =>
    codesOf(codes).flatMap((code) => {
      const clocks = new Set(zonesOf(code).map(clocksOf));
      return zones.split(' ').flatMap((zone) => (clocks.has(clocksOf(zone)) ? [] : `${code}: ${zone}`));
    }),
  );
  expect(lacking).toEqual([]);
  expect(codes.filter((code) => zonesOf(code).length > 4)).toEqual([]);
});

test.each(together)('area code %s and those over it have the same zones', (code, ...over) => {
  for (const other of over) expect(zonesOf(other), other).toEqual(zonesOf(code));
});
