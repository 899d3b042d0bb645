/// The style of the page, with a light and a dark colour scheme, and a single column on a phone.
let pageStyle = """
  :root{--paper:#fff;--panel:#f6f8fa;--ink:#1f2328;--quiet:#57606a;--line:#d0d7de;--link:#0550ae;\
  --new:#116329;--newbg:#dafbe1;--changed:#7d4e00;--changedbg:#fff3c4;--dropped:#a40e26;--droppedbg:#ffebe9;\
  --focus:#0969da}
  @media (prefers-color-scheme:dark){:root{--paper:#0d1117;--panel:#161b22;--ink:#e6edf3;--quiet:#9da7b3;\
  --line:#373e47;--link:#79c0ff;--new:#7ee787;--newbg:#0f2e1a;--changed:#f2cc60;--changedbg:#33280a;\
  --dropped:#ffa198;--droppedbg:#3c1618;--focus:#58a6ff}}
  *{box-sizing:border-box}
  [hidden]{display:none!important}
  html{scroll-padding-top:4.5rem;-webkit-text-size-adjust:100%}
  body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",\
  Roboto,Helvetica,Arial,sans-serif;overflow-wrap:break-word}
  code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:.9em}
  pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.6rem .8rem;overflow:auto;\
  margin:.4rem 0;max-height:32rem}
  a{color:var(--link);text-underline-offset:.15em}
  a:not(:hover):not(:focus-visible) code{text-decoration:none}
  :focus-visible{outline:2px solid var(--focus);outline-offset:2px;border-radius:3px}
  h1{font-size:1.15rem;margin:0;font-weight:650}
  h2{font-size:1.5rem;margin:2.6rem 0 .6rem;padding-bottom:.3rem;border-bottom:1px solid var(--line)}
  h3{font-size:1.15rem;margin:0}h4{font-size:.95rem;margin:0;overflow-wrap:anywhere}.turns h4{margin:0 0 .3rem}
  small,.meta,.operations,.none{color:var(--quiet);font-size:.87rem}
  ul,ol{padding-left:1.3rem;margin:.3rem 0}p{margin:.4rem 0}
  summary{cursor:pointer}summary h3,summary h4{display:inline}
  .vh{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
  .skip{position:absolute;left:-99rem}.skip:focus{left:.5rem;top:.5rem;background:var(--paper);padding:.4rem;z-index:9}
  .top{padding:0 1.2rem}
  .bar{display:flex;gap:.4rem 1.4rem;align-items:center;flex-wrap:wrap;padding:.7rem 0}
  .bar nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1rem;list-style:none;margin:0;padding:0}
  .search{margin-left:auto;position:relative}
  input[type=search],select,button{font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--quiet);\
  border-radius:6px;padding:.25rem .6rem}
  button{cursor:pointer;font-size:.87rem}button:hover{background:var(--panel)}
  input[type=search]{width:17rem;max-width:100%}
  #results{position:absolute;right:0;top:110%;width:min(34rem,92vw);max-height:70vh;overflow:auto;z-index:5;\
  background:var(--paper);border:1px solid var(--line);border-radius:8px;box-shadow:0 8px 24px #0004;padding:.5rem}
  #results ul{list-style:none;margin:0;padding:0}#results p{margin:.1rem .5rem;color:var(--quiet);font-size:.87rem}
  #results a{display:block;padding:.3rem .5rem;border-radius:5px;text-decoration:none;color:var(--ink)}
  #results a:hover,#results a:focus{background:var(--panel)}#results small{float:right;margin-left:1rem}
  .figures{display:flex;flex-wrap:wrap;gap:.5rem;list-style:none;padding:0;margin:.2rem 0 .4rem}
  .figures a{display:block;padding:.35rem .8rem;background:var(--panel);border:1px solid var(--line);border-radius:8px;\
  color:var(--ink);text-decoration:none}.figures a:hover{border-color:var(--quiet)}.figures b{font-size:1.15rem}
  main,footer{padding:0 1.2rem;max-width:92rem;margin:0 auto}.top>*{max-width:calc(92rem - 2.4rem);margin-left:auto;margin-right:auto}
  footer{margin-top:3rem;padding-bottom:2rem;color:var(--quiet);font-size:.87rem}
  .problems{border-left:4px solid var(--dropped);background:var(--droppedbg);padding:.3rem .8rem;margin:.8rem 0}
  .slider{position:sticky;top:0;z-index:3;display:flex;flex-wrap:wrap;gap:.3rem .9rem;align-items:center;\
  background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.5rem .9rem;margin-bottom:1rem}
  .slider input[type=range]{flex:1 1 12rem;accent-color:var(--focus);min-width:8rem}
  .slider output{font-weight:650;min-width:5rem}.slider fieldset{border:0;padding:0;margin:0;display:flex;gap:.7rem}
  .slider p{flex-basis:100%;margin:0;font-size:.9rem;color:var(--quiet)}
  .split{display:grid;grid-template-columns:14rem minmax(0,1fr);gap:1.6rem}
  .index{position:sticky;top:6.5rem;align-self:start;max-height:calc(100vh - 8rem);overflow:auto;font-size:.9rem}
  .index ul{list-style:none;padding:0;margin:0}.index a{display:inline-block;overflow-wrap:anywhere;padding:.1rem .4rem;text-decoration:none;border-radius:4px}
  .index a:hover{background:var(--panel)}
  .tables>article{border:1px solid var(--line);border-radius:10px;padding:.8rem 1rem 1rem;margin:0 0 1.1rem;scroll-margin-top:8rem}
  article.at-target,.entry.at-target,:target{border-color:var(--focus)}
  article>h3{display:inline-block}.meta{margin:.1rem 0 .5rem}
  .scroll{overflow-x:auto}
  table{border-collapse:collapse;width:100%;font-size:.92rem}
  th,td{text-align:left;padding:.28rem .7rem .28rem .4rem;border-top:1px solid var(--line);vertical-align:top}
  thead th{border-top:0;color:var(--quiet);font-weight:500;font-size:.85rem}tbody th{font-weight:600}
  td:nth-child(2),td:nth-child(3){font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.85rem}
  .numbers td,.numbers th:nth-child(n+2){text-align:right;font-variant-numeric:tabular-nums}
  .numbers .sub th{font-weight:400;padding-left:1.6rem;color:var(--quiet)}.numbers{max-width:48rem}
  abbr{font-size:.7rem;text-decoration:none;border:1px solid var(--line);border-radius:4px;padding:0 .25rem;margin-left:.4rem;\
  color:var(--quiet);font-weight:500}
  .group{margin-top:.7rem}.group details{display:inline-block;vertical-align:top;max-width:100%}.group h4{color:var(--quiet);font-weight:600;font-size:.85rem}
  .sql{margin-top:.7rem}.sql summary{color:var(--quiet);font-size:.87rem}
  .view h3::after{content:" view";font-weight:400;color:var(--quiet);font-size:.85rem}
  .mark{display:inline-block;font:600 .72rem/1.5 system-ui,sans-serif;border-radius:4px;padding:0 .35rem;margin-left:.5rem;white-space:nowrap}
  .is-new{background:var(--newbg)}.is-changed{background:var(--changedbg)}.is-dropped,.is-before{background:var(--droppedbg)}
  .is-dropped th,.is-dropped td,.is-before th,.is-before td,li.is-dropped,li.is-before{text-decoration:line-through}
  .mark-new,.changes .new>span{color:var(--new)}.mark-changed,.changes .changed>span{color:var(--changed)}
  .mark-dropped,.mark-before,.changes .dropped>span{color:var(--dropped)}
  article.is-new,article.is-changed,article.is-dropped{background:none;border-left-width:5px}
  article.is-new{border-left-color:var(--new)}article.is-changed{border-left-color:var(--changed)}
  article.is-dropped{border-left-color:var(--dropped)}
  .mark{text-decoration:none!important}
  .release{border:1px solid var(--line);border-radius:10px;margin:.8rem 0;padding:.5rem 1rem}
  .release>ol{list-style:none;padding:0}
  .entry,.drafts>li{border-left:3px solid var(--line);padding:.1rem 0 .1rem .9rem;margin:1rem 0 1rem .2rem;list-style:none}
  .entry.draft,.drafts>li{border-left-color:var(--changed)}
  .drafts{padding:0}
  .description{white-space:pre-line;max-width:70ch}
  .changes{list-style:none;padding:0;font-size:.92rem}.changes>li{padding-left:5rem}\
  .changes>li>span:first-child{display:inline-block;width:5rem;margin-left:-5rem;font-weight:600}
  .columns{columns:20rem}
  .picture{overflow:auto;border:1px solid var(--line);border-radius:10px;background:var(--paper);padding:.5rem;max-height:85vh}
  .picture svg{max-width:none}
  @media (prefers-color-scheme:dark){.picture polygon[fill="#dde7f3"]{fill:#1c2a3a}.picture polygon[fill="#ffffff"]{fill:#161b22}\
  .picture polygon[fill="#c5efcf"]{fill:#14432a}.picture polygon[fill="#e6ffec"]{fill:#0f2e1a}\
  .picture polygon[fill="#f7e3a1"]{fill:#4d3a08}.picture polygon[fill="#fff8d6"]{fill:#33280a}\
  .picture polygon[fill="#ffd0cc"]{fill:#5c1f22}.picture polygon[fill="#ffebe9"]{fill:#3c1618}\
  .picture text{fill:#e6edf3}.picture text[fill="#57606a"]{fill:#9da7b3}.picture text[fill="#0a3d1a"]{fill:#7ee787}\
  .picture text[fill="#4d3300"]{fill:#f2cc60}.picture text[fill="#82071e"]{fill:#ffa198}\
  .picture [stroke="#6e7781"],.picture [stroke="#8c959f"]{stroke:#768390}}
  .rule,.exchange{border:1px solid var(--line);border-radius:10px;padding:.7rem 1rem;margin:.8rem 0}
  .findings{list-style:none;padding:0}.findings>li{border-top:1px solid var(--line);padding:.5rem 0}
  .severity{font-weight:650}.severity.error{color:var(--dropped)}.severity.warning{color:var(--changed)}.severity.note{color:var(--quiet)}
  .reason{border-left:3px solid var(--line);padding-left:.7rem}
  .turns{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:.5rem 1.2rem}
  .sender{grid-column:1}.receiver{grid-column:2}.outcome{font-weight:650;color:var(--dropped)}
  @media (max-width:46rem){.split{display:block}.index{position:static;max-height:11rem;margin-bottom:1rem;border:1px solid var(--line);\
  border-radius:8px;padding:.4rem}.search{margin:0;width:100%}input[type=search]{width:100%}#results{left:0;right:auto;width:100%}\
  .slider{position:static}.turns{grid-template-columns:minmax(0,1fr)}.sender,.receiver{grid-column:1}\
  .receiver{border-left:3px solid var(--line);padding-left:.7rem}main,.top,footer{padding-left:.8rem;padding-right:.8rem}}
  @media (max-width:46rem){.tables thead{position:absolute;clip-path:inset(50%)}\
  .tables tr{display:grid;grid-template-columns:minmax(0,1fr) auto;border-top:1px solid var(--line);padding:.2rem 0}\
  .tables th,.tables td{border:0;padding:.05rem .4rem}.tables td:nth-child(n+3){grid-column:1/-1}\
  .tables td:nth-child(4){font-size:.85rem;color:var(--quiet)}.tables td:nth-child(4)::before{content:"added in "}\
  .tables td:empty{display:none}}
  @media print{.js,.index,nav,.search{display:none!important}.split{display:block}}
  """
